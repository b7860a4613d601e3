(package_clause name: (_) @package)

; Definitions
(class_definition name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name body: (_)? @body) @trait
(object_definition name: (_) @name body: (_)? @body) @object
(enum_definition name: (_) @name body: (_) @body) @enum
(function_definition name: (_) @name return_type: (_)? @returns body: (_) @body) @function
(function_declaration name: (_) @name return_type: (_)? @returns) @function
(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)

; Parameters, variables, fields
(parameter name: (_) @param type: (_) @type)
(parameter name: (_) @param type: (_) @type default_value: (_) @default)
(class_parameter name: (_) @param type: (_) @type)
(class_parameter name: (_) @param type: (_) @type default_value: (_) @default)
(val_definition pattern: (identifier) @variable type: (_)? @type
  value: [(instance_expression) (call_expression) (identifier) (field_expression)]? @value)
(var_definition pattern: (identifier) @variable type: (_)? @type
  value: [(instance_expression) (call_expression) (identifier) (field_expression)]? @value)
(val_declaration name: (_) @variable type: (_) @type)
(typed_pattern pattern: (identifier) @variable type: (_) @type)
(lambda_expression parameters: (identifier) @variable)
(binding name: (identifier) @variable type: (_)? @type)
(simple_enum_case name: (_) @field)

; Imports
(import_declaration . path: (_) @path path: (_) @last .) @import
(import_declaration . path: (_) @from (namespace_selectors (identifier) @item) @until) @import
(import_declaration . path: (_) @from
  (namespace_selectors (arrow_renamed_identifier name: (_) @item alias: (_) @as)) @until) @import
(import_declaration . path: (_) @from
  (namespace_selectors (as_renamed_identifier name: (_) @item alias: (_) @as)) @until) @import
(import_declaration . path: (_) @from (as_renamed_identifier name: (_) @item alias: (_) @as) @until) @import
(import_declaration . path: (_) @from (namespace_wildcard) @wildcard @until) @import
(type_definition name: (_) @name type: [(type_identifier) (stable_type_identifier)] @target) @alias

; Calls
(call_expression function: (identifier) @call arguments: (_) @args)
(call_expression function: (field_expression value: (_) @receiver field: (_) @call) arguments: (_) @args)
(call_expression function: (generic_function function: (identifier) @call) arguments: (_) @args)
(call_expression function: (generic_function
  function: (field_expression value: (_) @receiver field: (_) @call)) arguments: (_) @args)
(instance_expression [(type_identifier) (generic_type) (stable_type_identifier)] @new arguments: (_)? @args)
