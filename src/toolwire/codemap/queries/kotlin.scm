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
(function_value_parameters (parameter (identifier) @name [(user_type) (nullable_type)]? @type) @param)
(function_value_parameters (parameter_modifiers) . (parameter (identifier) @name (_)? @type) @param @rest)
(function_value_parameters (parameter (identifier) @name (_)? @type) @param . "=" @default)
(class_parameter (identifier) @name [(user_type) (nullable_type)]? @type) @param
(class_parameter (identifier) @name [(user_type) (nullable_type)]? @type "=" @default) @param
(class_parameter ["val" "var"] (identifier) @name [(user_type) (nullable_type)]? @type) @field
(property_declaration (variable_declaration (identifier) @name [(user_type) (nullable_type)]? @type)
  [(call_expression) (navigation_expression) (identifier)]? @value) @variable
(for_statement (variable_declaration (identifier) @name [(user_type) (nullable_type)]? @type)) @variable
(lambda_parameters (variable_declaration (identifier) @name [(user_type) (nullable_type)]? @type) @variable)
(enum_entry (identifier) @name) @field

; Imports
(import (qualified_identifier) @path) @import
(import (qualified_identifier) @path (identifier) @as) @import
(import (qualified_identifier) @from "*" @wildcard) @import
(type_alias type: (identifier) @name (user_type) @target) @alias

; Calls
(call_expression . (identifier) @name (value_arguments)? @args) @call
(call_expression . (navigation_expression (_) @receiver (identifier) @name .) (value_arguments)? @args) @call
(constructor_delegation_call ["this" "super"] @name (value_arguments) @args) @new
(constructor_invocation (user_type) @name (value_arguments) @args) @new
