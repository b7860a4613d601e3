; Definitions
(module name: (_) @name) @module
(class name: (_) @name) @class
(method name: (_) @name parameters: (_)? body: (_)? @body) @method
(singleton_method name: (_) @name body: (_)? @body) @method
(superclass [(constant) (scope_resolution)] @base)
(call !receiver method: (identifier) @_mixin arguments: (argument_list [(constant) (scope_resolution)] @base)
  (#any-of? @_mixin "include" "extend" "prepend"))

; Parameters, variables, fields
(method_parameters (identifier) @param)
(method_parameters (optional_parameter name: (_) @param) @default)
(method_parameters (keyword_parameter name: (_) @param) @default)
(method_parameters (splat_parameter name: (_) @param) @rest)
(method_parameters (block_parameter name: (_) @param) @default)
(block_parameters (identifier) @variable)
(assignment left: (identifier) @variable right: (_) @value)
(operator_assignment left: (identifier) @variable right: (_) @value)
(assignment left: (instance_variable) @field right: (_) @value)
(operator_assignment left: (instance_variable) @field right: (_) @value)

; Imports
(assignment left: (constant) @name right: [(constant) (scope_resolution)] @target) @alias

; Calls
(call !receiver method: [(identifier) (constant)] @call)
(call receiver: (_) @receiver method: [(identifier) (constant)] @call)
(body_statement (identifier) @call (#eq? @call "new"))
