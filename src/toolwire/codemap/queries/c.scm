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
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
]) @param
(field_declaration type: (_) @type declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
]) @field
(declaration type: (_) @type declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)])
]) @variable

; Imports
(preproc_include path: (string_literal) @from @wildcard) @import
(type_definition type: (struct_specifier name: (_) @target) declarator: (type_identifier) @name) @alias

; Calls
(call_expression function: (identifier) @name) @call
(call_expression function: (field_expression argument: (_) @receiver field: (_) @name)) @call
