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
(simple_parameter type: (_)? @type name: (_) @param)
(simple_parameter type: (_)? @type name: (_) @param default_value: (_) @default)
(variadic_parameter type: (_)? @type name: (_) @param) @rest
(property_promotion_parameter type: (_)? @type name: (_) @param)
(property_promotion_parameter type: (_)? @type name: (variable_name (name) @field))
(property_declaration type: (_)? @type (property_element name: (variable_name (name) @field)))
(assignment_expression left: (variable_name) @variable right: (_) @value)
(assignment_expression left: (member_access_expression object: (variable_name) @_this name: (name) @field)
  right: [(object_creation_expression) (scoped_call_expression) (function_call_expression)] @value
  (#eq? @_this "$this"))
(foreach_statement (variable_name) @_of (variable_name) @variable)
(enum_case name: (_) @field)

; Imports
(namespace_use_declaration (namespace_name) @from body: (_)) @group
(namespace_use_clause [(qualified_name) (name)] @path !alias) @import
(namespace_use_clause [(qualified_name) (name)] @path alias: (_) @as) @import

; Calls
(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @receiver name: (name) @call)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @call)
(scoped_call_expression scope: (_) @receiver name: (name) @call)
(object_creation_expression [(name) (qualified_name) (relative_scope)] @new)
