; Definitions
(class_declaration name: (_) @name body: (_) @body) @class
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(internal_module name: (_) @name body: (_) @body) @namespace
(function_declaration name: (_) @name return_type: (_)? @returns body: (_) @body) @function
(generator_function_declaration name: (_) @name return_type: (_)? @returns body: (_) @body) @function
(function_signature name: (_) @name return_type: (_)? @returns) @declaration
(method_definition name: (_) @name return_type: (_)? @returns body: (_) @body) @method
(abstract_method_signature name: (_) @name return_type: (_)? @returns) @method
(interface_body (method_signature name: (_) @name return_type: (_)? @returns) @method)
(class_body (method_signature name: (_) @name return_type: (_)? @returns) @declaration)
(variable_declarator name: (identifier) @name
  value: (arrow_function return_type: (_)? @returns body: (_) @body)) @function
(variable_declarator name: (identifier) @name
  value: (function_expression return_type: (_)? @returns body: (_) @body)) @function
(public_field_definition name: (_) @name
  value: (arrow_function return_type: (_)? @returns body: (_) @body)) @method
(extends_clause value: (_) @base)
(implements_clause (_) @base)
(extends_type_clause type: (_) @base)

; Parameters, variables, fields
(formal_parameters (required_parameter pattern: (identifier) @param type: (_)? @type))
(formal_parameters (required_parameter pattern: (rest_pattern (identifier) @param) type: (_)? @type) @rest)
(formal_parameters (required_parameter pattern: (identifier) @param value: (_) @default))
(formal_parameters (optional_parameter pattern: (identifier) @param type: (_)? @type) @default)
(required_parameter (accessibility_modifier) pattern: (identifier) @field type: (_)? @type)
(arrow_function parameter: (identifier) @variable)
(public_field_definition name: (_) @field type: (_)? @type
  value: [(new_expression) (call_expression) (identifier) (member_expression) (await_expression)]? @value)
(interface_body (property_signature name: (_) @field type: (_)? @type))
(variable_declarator name: (identifier) @variable type: (_)? @type
  value: [(new_expression) (call_expression) (identifier) (member_expression) (await_expression) (as_expression)
    (null) (undefined)]? @value)
(for_in_statement left: (identifier) @variable)

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
(type_alias_declaration name: (_) @name value: [(type_identifier) (nested_type_identifier)] @target) @alias

; Calls
(call_expression function: (identifier) @call arguments: (_) @args)
(call_expression function: (member_expression object: (_) @receiver property: (_) @call) arguments: (_) @args)
(call_expression function: (super) @new arguments: (_) @args)
(new_expression constructor: [(identifier) (member_expression)] @new arguments: (_)? @args)
(decorator (identifier) @call)
