(namespace_definition name: (_) @package !body)

; Definitions
(namespace_definition name: (_) @name body: (_) @body) @namespace
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @trait
(enum_declaration name: (_) @name body: (_) @body) @enum
(method_declaration name: (_) @name return_type: (_)? @returns body: (_)? @body) @method
(function_definition name: (_) @name return_type: (_)? @returns body: (_) @body) @function
(base_clause [(name) (qualified_name)] @base)
(class_interface_clause [(name) (qualified_name)] @base)
(use_declaration [(name) (qualified_name)] @base)

; Parameters, variables, fields
(simple_parameter type: (_)? @type name: (_) @name) @param
(simple_parameter type: (_)? @type name: (_) @name default_value: (_) @default) @param
(variadic_parameter type: (_)? @type name: (_) @name) @param @rest
(property_promotion_parameter type: (_)? @type name: (_) @name) @param
(property_promotion_parameter type: (_)? @type name: (variable_name (name) @name)) @field
(property_declaration type: (_)? @type (property_element name: (variable_name (name) @name))) @field
(assignment_expression left: (variable_name) @name right: (_) @value) @variable
(assignment_expression left: (member_access_expression object: (variable_name) @_this name: (name) @name)
  right: [(object_creation_expression) (scoped_call_expression) (function_call_expression)] @value
  (#eq? @_this "$this")) @field
(foreach_statement (variable_name) @_of (variable_name) @variable)
(enum_case name: (_) @name) @field

; Imports
(namespace_use_declaration (namespace_name) @from body: (_)) @group
(namespace_use_clause [(qualified_name) (name)] @path !alias) @import
(namespace_use_clause [(qualified_name) (name)] @path alias: (_) @as) @import

; Calls
(function_call_expression function: [(name) (qualified_name)] @name) @call
(member_call_expression object: (_) @receiver name: (name) @name) @call
(nullsafe_member_call_expression object: (_) @receiver name: (name) @name) @call
(scoped_call_expression scope: (_) @receiver name: (name) @name) @call
(object_creation_expression [(name) (qualified_name) (relative_scope)] @name) @new
