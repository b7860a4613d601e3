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
(parameter name: (_) @name type: (_) @type) @param
(parameter name: (_) @name type: (_) @type default_value: (_) @default) @param
(class_parameter name: (_) @name type: (_) @type) @param
(class_parameter name: (_) @name type: (_) @type default_value: (_) @default) @param
(val_definition pattern: (identifier) @name type: (_)? @type
  value: [(instance_expression) (call_expression) (identifier) (field_expression)]? @value) @variable
(var_definition pattern: (identifier) @name type: (_)? @type
  value: [(instance_expression) (call_expression) (identifier) (field_expression)]? @value) @variable
(val_declaration name: (_) @name type: (_) @type) @variable
(typed_pattern pattern: (identifier) @name type: (_) @type) @variable
(lambda_expression parameters: (identifier) @variable)
(binding name: (identifier) @name type: (_)? @type) @variable
(simple_enum_case name: (_) @name) @field

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
(call_expression function: (identifier) @name arguments: (_) @args) @call
(call_expression function: (field_expression value: (_) @receiver field: (_) @name) arguments: (_) @args) @call
(call_expression function: (generic_function function: (identifier) @name) arguments: (_) @args) @call
(call_expression function: (generic_function
  function: (field_expression value: (_) @receiver field: (_) @name)) arguments: (_) @args) @call
(instance_expression [(type_identifier) (generic_type) (stable_type_identifier)] @name arguments: (_)? @args) @new
