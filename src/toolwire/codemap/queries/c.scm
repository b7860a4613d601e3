; Definitions
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @union
(enum_specifier name: (_) @name body: (_) @body) @enum
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @struct
(function_definition type: (_) @returns declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
] body: (_) @body) @function
(declaration type: (_) @returns declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @declaration

; Parameters, variables, fields
(parameter_declaration type: (_) @type declarator: [
  (identifier) @param
  (pointer_declarator declarator: (identifier) @param)
  (array_declarator declarator: (identifier) @param)
])
(field_declaration type: (_) @type declarator: [
  (field_identifier) @field
  (pointer_declarator declarator: (field_identifier) @field)
])
(declaration type: (_) @type declarator: [
  (identifier) @variable
  (pointer_declarator declarator: (identifier) @variable)
  (init_declarator declarator: [(identifier) @variable (pointer_declarator declarator: (identifier) @variable)])
])

; Imports
(preproc_include path: (string_literal) @from @wildcard) @import
(type_definition type: (struct_specifier name: (_) @target) declarator: (type_identifier) @name) @alias

; Calls
(call_expression function: (identifier) @call)
(call_expression function: (field_expression argument: (_) @receiver field: (_) @call))
