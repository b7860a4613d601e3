"""What the local agent says, in the three languages it answers in."""

from __future__ import annotations

from toolwire.agents.local.words import Tongue

_PHRASES: dict[str, tuple[str, str, str]] = {
    # Progress
    "looking_for": ("Looking for {words}", "正在搜索：{words}", "Ищу: {words}"),
    "looking_around": ("Looking at the project as a whole", "正在查看项目整体结构", "Смотрю на проект в целом"),
    "narrowing": ("{files} files may matter; looking into the best", "{files} 个文件可能相关，正在细看最相关的",
                  "Возможных файлов: {files}; смотрю лучшие"),
    "reading": ("Reading {paths}", "正在阅读 {paths}", "Читаю {paths}"),
    "writing": ("Writing the answer", "正在整理回答", "Пишу ответ"),
    # Answer
    "best": ("The most likely place is {place}.", "最可能的位置是 {place}。", "Вероятнее всего, это {place}."),
    "several": ("The most likely places:", "最可能的位置：", "Вероятные места:"),
    "also": ("Other places that fit:", "其他相关位置：", "Другие подходящие места:"),
    "borrowed": ("(Understood as a follow-up to your earlier question.)", "（按上一个问题继续理解。）",
                 "(Понято как продолжение прошлого вопроса.)"),
    "callers": ("{name} is used here:", "{name} 在以下位置被使用：", "{name} используется здесь:"),
    "defined": ("It seems to be defined at {place}.", "它似乎定义在 {place}。",
                "Определено, по-видимому, в {place}."),
    "no_callers": ("No place that uses {name} was found.", "没有找到使用 {name} 的位置。",
                   "Мест, где используется {name}, не найдено."),
    "more": ("… and {count} more", "……另有 {count} 处", "… и ещё {count}"),
    "file": ("{path} begins like this:", "{path} 的开头：", "{path} начинается так:"),
    "defines": ("It defines:", "其中定义了：", "В нём определены:"),
    "no_file": ("{path} could not be opened.", "无法打开 {path}。", "{path} не удалось открыть."),
    "overview": ("The project's top folder:", "项目根目录：", "Верхний каталог проекта:"),
    "nothing": ("Nothing in the project matched {words}.", "项目中没有找到与 {words} 相关的内容。",
                "В проекте ничего не найдено по словам {words}."),
    "no_words": ("The question has no words to search for: name a file, a class, a function or a topic.",
                 "问题中没有可以搜索的词：请给出文件、类、函数或主题的名称。",
                 "В вопросе нет слов для поиска: назовите файл, класс, функцию или тему."),
    "failed": ("The searches failed: {problem}", "搜索失败：{problem}", "Поиск не удался: {problem}"),
    "some_failed": ("{count} of the calls failed.", "其中 {count} 次调用失败。", "Неудачных вызовов: {count}."),
    "cut": ("Some searches had more matches than were looked at.", "部分搜索的匹配过多，没有全部查看。",
            "Некоторые поиски дали больше совпадений, чем просмотрено."),
    "effort": ("Searched for {words} in {calls} tool calls; {files} files matched.",
               "搜索词：{words}；共 {calls} 次工具调用，{files} 个文件匹配。",
               "Искал {words}; вызовов инструментов: {calls}, файлов с совпадениями: {files}."),
    "no_model": ("No language model was used: places are ranked by names, definitions and text alone.",
                 "未使用语言模型：结果仅按名称、定义和文本匹配排序。",
                 "Языковая модель не использовалась: места упорядочены только по именам, определениям и тексту."),
    # What to do next
    "next": ("### What to look at next", "### 下一步可以看", "### Что посмотреть дальше"),
    "plan": ("### Plan", "### 计划", "### План"),
    "read_on": ("Read {place}", "阅读 {place}", "Прочитать {place}"),
    "check_second": ("Compare with {place}", "对照 {place}", "Сравнить с {place}"),
    "ask_callers": ("Find out who uses {name}: ask “who calls {name}?”",
                    "查看谁使用了 {name}：可以问“谁调用 {name}？”",
                    "Узнать, кто использует {name}: спросите «кто вызывает {name}?»"),
    "see_tests": ("See how it is tested: {place}", "查看相关测试：{place}", "Посмотреть тесты: {place}"),
    "change_there": ("Make the change there, then follow its users", "在该处修改，再检查所有使用它的地方",
                     "Внести изменение там и проверить все места использования"),
    "ask_narrower": ("Ask again with the name of a class, a function or a file",
                     "用具体的类名、函数名或文件名再问一次",
                     "Спросить ещё раз, назвав класс, функцию или файл"),
    "run_tests": ("Run the tests", "运行测试", "Запустить тесты"),
}  # fmt: skip


def phrase(key: str, tongue: Tongue, **facts: object) -> str:
    english, chinese, russian = _PHRASES[key]
    text = {"en": english, "zh": chinese, "ru": russian}[tongue]
    return text.format(**facts)
