; Definitions
(namespace_definition name: (_) @name body: (_) @body) @namespace
(class_specifier name: (_) @name body: (_) @body) @class
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @union
(enum_specifier name: (_) @name body: (_) @body) @enum
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(function_definition type: (_)? @returns declarator: [
  (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name))
  (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
] body: (_)? @body) @function
(function_definition type: (_)? @returns declarator: [
  (function_declarator declarator: (qualified_identifier scope: (_) @owner name: (_) @name))
  (pointer_declarator declarator: (function_declarator
    declarator: (qualified_identifier scope: (_) @owner name: (_) @name)))
  (reference_declarator (function_declarator declarator: (qualified_identifier scope: (_) @owner name: (_) @name)))
] body: (_)? @body) @method
(field_declaration type: (_)? @returns declarator: [
  (function_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
  (reference_declarator (function_declarator declarator: (field_identifier) @name))
]) @declaration
(declaration type: (_)? @returns declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @declaration

; Parameters, variables, fields
(parameter_declaration type: (_) @type declarator: [
  (identifier) @param
  (pointer_declarator declarator: (identifier) @param)
  (reference_declarator (identifier) @param)
])
(optional_parameter_declaration type: (_) @type declarator: (identifier) @param default_value: (_) @default)
(field_declaration type: (_) @type declarator: [
  (field_identifier) @field
  (pointer_declarator declarator: (field_identifier) @field)
  (reference_declarator (field_identifier) @field)
])
(declaration type: (_) @type declarator: [
  (identifier) @variable
  (pointer_declarator declarator: (identifier) @variable)
  (reference_declarator (identifier) @variable)
])
(declaration type: (_) @type declarator: (init_declarator declarator: [
  (identifier) @variable
  (pointer_declarator declarator: (identifier) @variable)
  (reference_declarator (identifier) @variable)
] value: (_) @value))
(for_range_loop type: (_) @type declarator: [(identifier) @variable (reference_declarator (identifier) @variable)])

; Imports
(preproc_include path: (string_literal) @from @wildcard) @import
(using_declaration "namespace" @wildcard [(identifier) (qualified_identifier)] @from) @import
(using_declaration (qualified_identifier name: (_) @name) @target) @alias
(alias_declaration name: (_) @name type: (type_descriptor type: (_) @target)) @alias
(namespace_alias_definition name: (_) @name [(namespace_identifier) (nested_namespace_specifier)] @target) @alias

; Calls
(call_expression function: (identifier) @call arguments: (_) @args)
(call_expression function: (field_expression argument: (_) @receiver field: (_) @call) arguments: (_) @args)
(call_expression function: (qualified_identifier scope: (_) @receiver name: (identifier) @call) arguments: (_) @args)
(call_expression function: (template_function name: (identifier) @call) arguments: (_) @args)
(new_expression type: (_) @new arguments: (_)? @args)
(declaration type: (_) @new declarator: (init_declarator value: [(argument_list) (initializer_list)] @args))
