(file_scoped_namespace_declaration name: (_) @package)

; Definitions
(namespace_declaration name: (_) @name body: (_) @body) @namespace
(class_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(struct_declaration name: (_) @name body: (_)? @body) @struct
(record_declaration name: (_) @name body: (_)? @body) @record
(enum_declaration name: (_) @name body: (_) @body) @enum
(method_declaration returns: (_) @returns name: (_) @name body: (_)? @body) @method
(local_function_statement type: (_) @returns name: (_) @name body: (_)? @body) @function
(constructor_declaration name: (_) @name body: (_)? @body) @constructor
(base_list [(identifier) (qualified_name) (generic_name)] @base)
(base_list (primary_constructor_base_type type: (_) @base))

; Parameters, variables, fields
(parameter type: (_)? @type name: (_) @name) @param
(parameter type: (_)? @type name: (_) @name "=" @default) @param
(record_declaration (parameter_list (parameter type: (_) @type name: (_) @name) @field))
(class_declaration (parameter_list (parameter type: (_) @type name: (_) @name) @field))
(field_declaration (variable_declaration type: (_) @type
  (variable_declarator name: (_) @name [(object_creation_expression) (invocation_expression)]? @value))) @field
(property_declaration type: (_) @type name: (_) @name) @field
(local_declaration_statement (variable_declaration type: (_) @type
  (variable_declarator name: (_) @name (_)? @value))) @variable
(foreach_statement type: (_) @type left: (identifier) @name) @variable
(declaration_pattern type: (_) @type name: (_) @name) @variable
(enum_member_declaration name: (_) @name) @field

; Imports
(using_directive !name [(identifier) (qualified_name)] @from @wildcard) @import
(using_directive name: (_) @name [(identifier) (qualified_name)] @target .) @alias

; Calls
(invocation_expression function: (identifier) @name arguments: (_) @args) @call
(invocation_expression function: (generic_name (identifier) @name) arguments: (_) @args) @call
(invocation_expression function: (member_access_expression expression: (_) @receiver
  name: [(identifier) @name (generic_name (identifier) @name)]) arguments: (_) @args) @call
(invocation_expression function: (member_access_expression "base" @receiver name: (identifier) @name)
  arguments: (_) @args) @call
(invocation_expression function: (conditional_access_expression condition: (_) @receiver
  (member_binding_expression name: (identifier) @name)) arguments: (_) @args) @call
(object_creation_expression type: (_) @name arguments: (_)? @args) @new
(constructor_initializer ["base" "this"] @name (argument_list) @args) @new
