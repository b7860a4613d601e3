(package_declaration [(identifier) (scoped_identifier)] @package)

; Definitions
(class_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @interface
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(record_declaration name: (identifier) @name body: (_) @body) @record
(method_declaration type: (_) @returns name: (identifier) @name body: (_)? @body) @method
(constructor_declaration name: (identifier) @name body: (_) @body) @constructor
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @constructor
(superclass (_) @base)
(type_list (_) @base)

; Parameters, variables, fields
(formal_parameter type: (_) @type name: (identifier) @param)
(spread_parameter (modifiers)? . (_) @type (variable_declarator name: (identifier) @param)) @rest
(field_declaration type: (_) @type
  declarator: (variable_declarator name: (identifier) @field value: (_)? @value))
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (identifier) @field)))
(local_variable_declaration type: (_) @type
  declarator: (variable_declarator name: (identifier) @variable value: (_)? @value))
(enhanced_for_statement type: (_) @type name: (identifier) @variable)
(resource type: (_) @type name: (identifier) @variable value: (_)? @value)
(catch_formal_parameter (catch_type (_) @type) name: (identifier) @variable)
(instanceof_expression right: (_) @type name: (identifier) @variable)
(inferred_parameters (identifier) @variable)
(lambda_expression parameters: (identifier) @variable)
(enum_constant name: (identifier) @field)

; Imports
(import_declaration (scoped_identifier scope: (_) @from name: (identifier) @item) .) @import
(import_declaration [(identifier) (scoped_identifier)] @from (asterisk) @wildcard) @import

; Calls
(method_invocation !object name: (identifier) @call arguments: (_) @args)
(method_invocation object: (_) @receiver name: (identifier) @call arguments: (_) @args)
(method_reference . (_) @receiver (identifier) @call .)
(object_creation_expression type: (_) @new arguments: (_) @args)
(explicit_constructor_invocation constructor: (_) @new arguments: (_) @args)
