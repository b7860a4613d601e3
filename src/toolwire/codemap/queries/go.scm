; Definitions
(type_spec name: (_) @name type: (struct_type) @body) @struct
(type_spec name: (_) @name type: (interface_type) @body) @interface
(type_spec name: (_) @name type: [(type_identifier) (function_type) (map_type) (slice_type) (qualified_type)]) @struct
(function_declaration name: (_) @name result: (_)? @returns body: (_)? @body) @function
(method_declaration receiver: (parameter_list (parameter_declaration
  type: [(type_identifier) @owner (pointer_type (type_identifier) @owner)
    (generic_type type: (_) @owner) (pointer_type (generic_type type: (_) @owner))]))
  name: (_) @name result: (_)? @returns body: (_)? @body) @method
(type_spec type: (interface_type (method_elem name: (_) @name result: (_)? @returns) @method))
(field_declaration !name type: (_) @base)
(interface_type (type_elem (_) @base))

; Parameters, variables, fields
(method_declaration receiver: (parameter_list (parameter_declaration name: (_) @variable type: (_) @type)))
(function_declaration parameters: (parameter_list (parameter_declaration name: (_) @param type: (_) @type)))
(method_declaration parameters: (parameter_list (parameter_declaration name: (_) @param type: (_) @type)))
(variadic_parameter_declaration name: (_) @param type: (_) @type) @rest
(func_literal parameters: (parameter_list (parameter_declaration name: (_) @variable type: (_) @type)))
(field_declaration name: (_) @field type: (_) @type)
(short_var_declaration left: (expression_list . (identifier) @variable) right: (expression_list . (_) @value))
(short_var_declaration left: (expression_list (identifier) @_first (identifier) @variable))
(range_clause left: (expression_list (identifier) @variable))
(var_spec name: (identifier) @variable type: (_)? @type value: (expression_list . (_) @value)?)

; Imports
(import_spec !name path: (_) @from) @import
(import_spec name: (package_identifier) @as path: (_) @from) @import
(import_spec name: (dot) @wildcard path: (_) @from) @import
(type_alias name: (_) @name type: [(type_identifier) (qualified_type)] @target) @alias

; Calls
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @call))
