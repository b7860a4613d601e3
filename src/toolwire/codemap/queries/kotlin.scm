(package_header (qualified_identifier) @package)

; Definitions
(class_declaration "class" name: (identifier) @name (class_body)? @body) @class
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @interface
(class_declaration "class" name: (identifier) @name (enum_class_body) @body) @enum
(object_declaration name: (identifier) @name (class_body)? @body) @object
(function_declaration name: (identifier) @name (function_value_parameters) . [(user_type) (nullable_type)]? @returns
  (function_body)? @body) @function
(function_declaration . (modifiers)? . (user_type) @owner . name: (identifier) @name
  (function_value_parameters) . [(user_type) (nullable_type)]? @returns (function_body)? @body) @function
(secondary_constructor "constructor" @name (block)? @body) @constructor
(delegation_specifier [(user_type) @base (constructor_invocation (user_type) @base)
  (explicit_delegation (user_type) @base)])

; Parameters, variables, fields
(function_value_parameters (parameter (identifier) @param [(user_type) (nullable_type)]? @type))
(function_value_parameters (parameter_modifiers) . (parameter (identifier) @param (_)? @type) @rest)
(function_value_parameters (parameter (identifier) @param (_)? @type) . "=" @default)
(class_parameter (identifier) @param [(user_type) (nullable_type)]? @type)
(class_parameter (identifier) @param [(user_type) (nullable_type)]? @type "=" @default)
(class_parameter ["val" "var"] (identifier) @field [(user_type) (nullable_type)]? @type)
(property_declaration (variable_declaration (identifier) @variable [(user_type) (nullable_type)]? @type)
  [(call_expression) (navigation_expression) (identifier)]? @value)
(for_statement (variable_declaration (identifier) @variable [(user_type) (nullable_type)]? @type))
(lambda_parameters (variable_declaration (identifier) @variable [(user_type) (nullable_type)]? @type))
(enum_entry (identifier) @field)

; Imports
(import (qualified_identifier) @path) @import
(import (qualified_identifier) @path (identifier) @as) @import
(import (qualified_identifier) @from "*" @wildcard) @import
(type_alias type: (identifier) @name (user_type) @target) @alias

; Calls
(call_expression . (identifier) @call (value_arguments)? @args)
(call_expression . (navigation_expression (_) @receiver (identifier) @call .) (value_arguments)? @args)
(constructor_delegation_call ["this" "super"] @new (value_arguments) @args)
(constructor_invocation (user_type) @new (value_arguments) @args)
