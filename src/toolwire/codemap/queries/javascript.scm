; Definitions
(class_declaration name: (_) @name body: (_) @body) @class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(method_definition name: (_) @name body: (_) @body) @method
(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @function
(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @method
(class_heritage [(identifier) (member_expression)] @base)

; Parameters, variables, fields
(formal_parameters (identifier) @param)
(formal_parameters (assignment_pattern left: (identifier) @param) @default)
(formal_parameters (rest_pattern (identifier) @param) @rest)
(arrow_function parameter: (identifier) @variable)
(variable_declarator name: (identifier) @variable
  value: [(new_expression) (call_expression) (identifier) (member_expression) (await_expression) (null)
    (undefined)]? @value)
(field_definition property: (_) @field
  value: [(new_expression) (call_expression) (identifier) (member_expression)]? @value)
(assignment_expression left: (member_expression object: (this) property: (_) @field)
  right: [(new_expression) (call_expression) (identifier) (member_expression)] @value)
(for_in_statement left: (identifier) @variable)

; What a function gives back, where its head does not say it
(return_statement [(call_expression) (new_expression) (identifier) (member_expression)] @return)

; Imports
(import_statement (import_clause (named_imports (import_specifier name: (_) @item !alias))) source: (_) @from) @import
(import_statement (import_clause (named_imports (import_specifier name: (_) @item alias: (_) @as)))
  source: (_) @from) @import
(import_statement (import_clause (identifier) @as) source: (_) @from) @import @default
(import_statement (import_clause (namespace_import (identifier) @as)) source: (_) @from) @import
(export_statement (export_clause (export_specifier name: (_) @item !alias)) source: (_) @from) @import
(export_statement (export_clause (export_specifier name: (_) @item alias: (_) @as)) source: (_) @from) @import
(export_statement "*" @wildcard source: (_) @from) @import
(export_statement (namespace_export (_) @as) source: (_) @from) @import
(export_statement "default" @name declaration: (_ name: (_) @target)) @alias
(export_statement "default" @name value: (identifier) @target) @alias
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @item)
  value: (call_expression function: (identifier) @_require arguments: (arguments (string) @from))
  (#eq? @_require "require")) @import
(variable_declarator name: (object_pattern (pair_pattern key: (_) @item value: (identifier) @as))
  value: (call_expression function: (identifier) @_require arguments: (arguments (string) @from))
  (#eq? @_require "require")) @import
(variable_declarator name: (identifier) @as
  value: (call_expression function: (identifier) @_require arguments: (arguments (string) @from))
  (#eq? @_require "require")) @import

; Calls
(call_expression function: (identifier) @call)
(call_expression function: (member_expression object: (_) @receiver property: (_) @call))
(call_expression function: (super) @new)
(new_expression constructor: [(identifier) (member_expression)] @new)
(decorator (identifier) @call)
