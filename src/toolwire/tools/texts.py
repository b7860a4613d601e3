"""The sentences of every tool error, in Chinese (documents 1 and 2) and English.

A kind that a tool raises has its row here; `{names}` are the facts given to `ToolError`.
"""

from __future__ import annotations

from typing import Any

from toolwire.errors import ToolError
from toolwire.tools.base import Language

SENTENCES: dict[str, tuple[str, str]] = {
    # Paths
    "file_not_found": ("文件不存在: {path}", "File not found: {path}"),
    "folder_not_found": ("目录不存在: {path}", "Folder not found: {path}"),
    "path_not_found": ("路径不存在: {path}", "Path not found: {path}"),
    "bad_path": ("路径无效: {path}（{reason}）", "Bad path: {path} ({reason})"),
    "outside_workspace": ("路径超出项目根目录: {path}", "Path leads outside the project: {path}"),
    "link_refused": ("不允许通过符号链接访问: {path}", "Not followed, it is a symbolic link: {path}"),
    "not_a_file": ("不是文件: {path}", "Not a file: {path}"),
    "not_a_folder": ("不是目录: {path}", "Not a folder: {path}"),
    "file_exists": ("文件已存在: {path}", "File exists already: {path}"),
    "permission_denied": ("没有权限: {path}", "Permission denied: {path}"),
    "protected_path": ("受保护的路径，禁止写入: {path}", "Protected path, not written: {path}"),
    "path_busy": ("路径正在变化，请重试: {path}", "Path keeps changing, try again: {path}"),
    "io_error": ("读写失败: {path}（{reason}）", "Input/output error: {path} ({reason})"),
    "no_space": ("磁盘空间不足: {path}", "No space left on disk: {path}"),
    # Contents
    "binary_file": ("二进制文件，无法按文本处理: {path}", "Binary file, not text: {path}"),
    "file_too_large": (
        "文件过大: {path}（{size} 字节，上限 {limit} 字节；请用 grep_file 查找）",
        "File too large: {path} ({size} bytes, limit {limit}; search it with grep_file)",
    ),
    "not_encodable": (
        "文件编码 {encoding} 无法表示字符 {char}: {path}",
        "The file's encoding {encoding} has no {char}: {path}",
    ),
    "content_changed": (
        "文件内容已变化: {path}（期望 {expected}，实际 {actual}）",
        "The file has changed: {path} (expected {expected}, found {actual})",
    ),
    "line_out_of_range": (
        "行号超出范围: {path}（第 {line} 行，共 {total} 行）",
        "Line out of range: {path} (line {line} of {total})",
    ),
    "bad_line_range": (
        "行范围无效: {path}（{start}-{end}）",
        "Bad line range: {path} ({start}-{end})",
    ),
    "state_unusable": ("状态目录不可用: {reason}", "The state folder can't be used: {reason}"),
    # Writing
    "not_read": (
        "文件尚未读取，请先用 read_file 读取: {path}",
        "File has not been read yet, read it first: {path}",
    ),
    "changed_since_read": (
        "文件在读取之后已被修改，请重新读取: {path}",
        "File has been modified since it was read, read it again: {path}",
    ),
    "unexpected_content": (
        "文件内容与期望不符: {path}（期望 {expected}，实际 {actual}）{diff}",
        "The file is not what was expected: {path} (expected {expected}, found {actual}){diff}",
    ),
    "patch_misfit": ("补丁第 {hunk} 段无法应用: {reason}", "Hunk {hunk} of the patch does not apply: {reason}"),
    "string_not_found": ("未找到字符串: {string}...", "String not found: {string}..."),
    "string_repeated": (
        "字符串出现 {count} 次，请提供更多上下文或使用 replace_all: {string}...",
        "String occurs {count} times, give more context or set replace_all: {string}...",
    ),
    "same_strings": (
        "old_string 与 new_string 相同，没有可修改的内容",
        "No changes to make: old_string and new_string are the same",
    ),
    "empty_old_string": (
        "old_string 为空，只能用于创建新文件",
        "old_string is empty, which only makes a new file",
    ),
    "edit_failed": ("第 {edit} 个编辑出错: {reason_zh}", "Error in edit {edit}: {reason}"),
    "content_not_found": (
        "未找到要修改的内容（已尝试忽略缩进）: {path}\n{search}",
        "The content to change was not found, also when indentation is ignored: {path}\n{search}",
    ),
    "content_ambiguous": (
        "要修改的内容在 {path} 中出现 {count} 次，请提供更多上下文:\n{places}",
        "The content to change occurs {count} times in {path}, give more context:\n{places}",
    ),
    "not_a_notebook": (
        "不是有效的 Jupyter Notebook: {path}（{reason}）",
        "Not a valid Jupyter notebook: {path} ({reason})",
    ),
    "cell_out_of_bounds": (
        "单元格索引超出范围，Notebook 共有 {cells} 个单元格。",
        "Cell number is out of bounds. Notebook has {cells} cells.",
    ),
    "not_recorded": (
        "无法记录撤销信息，未写入: {path}（{reason}）",
        "Not written, its inverse can't be recorded: {path} ({reason})",
    ),
    "undo_unknown": ("没有该调用的写入记录: {call_id}", "No write is recorded for this call: {call_id}"),
    "undo_nothing": ("没有可撤销的修改: {call_id}（{path}）", "Nothing to undo: {call_id} ({path})"),
    "undo_stale": (
        "无法撤销，文件之后又被修改: {path}（期望 {expected}，实际 {actual}）",
        "Not undone, the file has changed since: {path} (expected {expected}, found {actual})",
    ),
    # Searching
    "bad_pattern": ("正则表达式无效: {pattern}\n{reason}", "Bad pattern: {pattern}\n{reason}"),
    "unknown_file_type": (
        "未知的文件类型: {file_type}（可用扩展名、语言名、config 或 all）",
        "Unknown file type: {file_type} (an extension, a language name, config, or all)",
    ),
    "search_failed": ("搜索失败: {reason}", "Search failed: {reason}"),
    "search_program_missing": (
        "未找到搜索程序 rg，请安装 ripgrep",
        "The search program rg is missing: install ripgrep",
    ),
    "class_not_found": ("类未找到: {name}", "Class not found: {name}"),
    "method_not_found": ("方法未找到: {name}", "Method not found: {name}"),
    "overload_not_found": (
        "没有参数为 ({types}) 的重载: {name}（现有: {known}）",
        "No overload of {name} takes ({types}); there are: {known}",
    ),
    "symbol_not_found": ("未找到符号: {name}", "No such symbol: {name}"),
    # Calls
    "unknown_tool": ("未知工具: {name}", "Unknown tool: {name}"),
    "bad_arguments": ("参数无效: {problems_zh}", "Bad arguments: {problems}"),
    "timeout": ("执行超时（{seconds} 秒）", "Timed out after {seconds} s"),
    "stopped": ("已取消", "Stopped"),
    "result_not_found": ("结果不存在或已过期: {ref}", "No such result, or no longer kept: {ref}"),
    "internal_error": ("工具 {tool} 内部错误: {reason}", "Internal error in {tool}: {reason}"),
}


class _Facts(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return "?"


def sentence(error: ToolError, language: Language) -> str:
    """What a person reads. A kind without a row speaks in its own message rather than not at all."""
    row = SENTENCES.get(error.kind)
    if row is None:
        text = error.message
    else:
        text = row[0 if language == "zh" else 1].format_map(_Facts(error.facts))
    return f"{text} ({error.hint})" if error.hint else text
