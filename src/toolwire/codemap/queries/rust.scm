; Definitions
(struct_item name: (_) @name body: (_)? @body) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(union_item name: (_) @name body: (_) @body) @union
(trait_item name: (_) @name body: (_) @body) @trait
(mod_item name: (_) @name body: (_) @body) @namespace
(impl_item trait: (_)? type: [(type_identifier) @name (generic_type type: (_) @name) (scoped_type_identifier) @name]
  body: (_) @body) @impl
(impl_item trait: (_) @base)
(trait_item bounds: (trait_bounds (_) @base))
(function_item name: (_) @name return_type: (_)? @returns body: (_) @body) @function
(function_signature_item name: (_) @name return_type: (_)? @returns) @method

; Parameters, variables, fields
(parameter pattern: [(identifier) @param (mut_pattern (identifier) @param)] type: (_) @type)
(closure_parameters (identifier) @variable)
(field_declaration name: (_) @field type: (_) @type)
(enum_variant name: (_) @field)
(let_declaration pattern: [(identifier) @variable (mut_pattern (identifier) @variable)] type: (_)? @type
  value: (_)? @value)
(for_expression pattern: (identifier) @variable)

; Imports
(mod_item name: (_) @item !body) @import
(scoped_use_list path: (_) @from list: (_)) @group
(use_declaration argument: (scoped_identifier path: (_) @from name: (_) @item)) @import
(use_declaration argument: (use_as_clause path: (scoped_identifier path: (_) @from name: (_) @item) alias: (_) @as)) @import
(use_declaration argument: (use_wildcard (_) @from) @wildcard) @import
(use_list (identifier) @item @import)
(use_list (self) @item @import)
(use_list (scoped_identifier path: (_) @from name: (_) @item) @import)
(use_list (use_as_clause path: (identifier) @item alias: (_) @as) @import)
(use_list (use_as_clause path: (scoped_identifier path: (_) @from name: (_) @item) alias: (_) @as) @import)
(type_item name: (_) @name type: [(type_identifier) (scoped_type_identifier)] @target) @alias

; Calls
(call_expression function: (identifier) @call)
(call_expression function: (field_expression value: (_) @receiver field: (_) @call))
(call_expression function: (scoped_identifier path: (_) @receiver name: (_) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function
  function: (field_expression value: (_) @receiver field: (_) @call)))
(call_expression function: (generic_function
  function: (scoped_identifier path: (_) @receiver name: (_) @call)))
