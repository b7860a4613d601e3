; Definitions
(class_definition name: (identifier) @name body: (_) @body) @class
(function_definition name: (identifier) @name return_type: (type)? @returns body: (_) @body) @function
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))

; Parameters
(parameters [
  (identifier) @param
  (list_splat_pattern (identifier) @param)
  (dictionary_splat_pattern (identifier) @param)
  (default_parameter name: (identifier) @param value: (_) @value)
  (typed_default_parameter name: (identifier) @param type: (type) @type)
  (typed_parameter . (identifier) @param type: (type) @type)
])

; Variables and fields
(assignment left: (identifier) @variable type: (type)? @type right: (_)? @value)
(assignment left: (pattern_list (identifier) @variable))
(for_statement left: (identifier) @variable)
(for_statement left: (pattern_list (identifier) @variable))
(as_pattern (_) @value alias: (as_pattern_target (identifier) @variable))
(named_expression name: (identifier) @variable value: (_) @value)
(assignment left: (attribute object: (identifier) @_self attribute: (identifier) @field)
  type: (type)? @type right: (_)? @value (#any-of? @_self "self" "cls"))

; What a function gives back, where its head does not say it
(return_statement [(call) (identifier) (attribute)] @return)

; Imports
(import_statement name: (dotted_name) @from) @import
(import_statement name: (aliased_import name: (dotted_name) @from alias: (identifier) @as)) @import
(import_from_statement module_name: (_) @from name: (dotted_name) @item) @import
(import_from_statement module_name: (_) @from
  name: (aliased_import name: (dotted_name) @item alias: (identifier) @as)) @import
(import_from_statement module_name: (_) @from (wildcard_import) @wildcard) @import

; Calls
(call function: (identifier) @call arguments: (_) @args)
(call function: (attribute object: (_) @receiver attribute: (identifier) @call) arguments: (_) @args)
(decorator (identifier) @call)
(decorator (attribute object: (_) @receiver attribute: (identifier) @call))
