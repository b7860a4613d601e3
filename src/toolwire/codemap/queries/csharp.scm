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
(parameter type: (_)? @type name: (_) @param)
(parameter type: (_)? @type name: (_) @param "=" @default)
(record_declaration (parameter_list (parameter type: (_) @type name: (_) @field)))
(class_declaration (parameter_list (parameter type: (_) @type name: (_) @field)))
(field_declaration (variable_declaration type: (_) @type
  (variable_declarator name: (_) @field [(object_creation_expression) (invocation_expression)]? @value)))
(property_declaration type: (_) @type name: (_) @field)
(local_declaration_statement (variable_declaration type: (_) @type
  (variable_declarator name: (_) @variable (_)? @value)))
(foreach_statement type: (_) @type left: (identifier) @variable)
(declaration_pattern type: (_) @type name: (_) @variable)
(enum_member_declaration name: (_) @field)

; Imports
(using_directive !name [(identifier) (qualified_name)] @from @wildcard) @import
(using_directive name: (_) @name [(identifier) (qualified_name)] @target .) @alias

; Calls
(invocation_expression function: (identifier) @call arguments: (_) @args)
(invocation_expression function: (generic_name (identifier) @call) arguments: (_) @args)
(invocation_expression function: (member_access_expression expression: (_) @receiver
  name: [(identifier) @call (generic_name (identifier) @call)]) arguments: (_) @args)
(invocation_expression function: (member_access_expression "base" @receiver name: (identifier) @call)
  arguments: (_) @args)
(invocation_expression function: (conditional_access_expression condition: (_) @receiver
  (member_binding_expression name: (identifier) @call)) arguments: (_) @args)
(object_creation_expression type: (_) @new arguments: (_)? @args)
(constructor_initializer ["base" "this"] @new (argument_list) @args)
