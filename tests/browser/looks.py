"""The console as somebody in front of it sees and uses it."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Locator, expect

from support.patience import PATIENCE

WATCH_POLICY = """
window.policyViolations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.policyViolations.push(`${event.violatedDirective}: ${event.blockedURI}`);
});
"""
EXPECTED = ("WebSocket connection to", "Failed to load resource")
"""What a browser itself writes when a gateway is down or refuses a token."""
MILLISECONDS = PATIENCE * 1000
expect.set_options(timeout=MILLISECONDS)


class Looks:
    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._errors: list[str] = []
        context.add_init_script(WATCH_POLICY)
        self.page = context.new_page()
        self.page.set_default_timeout(MILLISECONDS)
        self.page.on("console", lambda message: self._heard(message.type, message.text))
        self.page.on("pageerror", lambda error: self._errors.append(f"uncaught: {error}"))

    def go(self, address: str) -> None:
        self.page.goto(address)

    def complaints(self) -> list[str]:
        return self._errors + list(self.page.evaluate("window.policyViolations ?? []"))

    def forgive(self) -> None:
        """What has been complained about so far was meant to happen."""
        self._errors.clear()
        self.page.evaluate("window.policyViolations = []")

    def leave(self) -> None:
        """Go elsewhere, and leave nothing behind for the next visit."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.evaluate("sessionStorage.clear()")
        self.page.goto("about:blank")
        self._errors.clear()

    def close(self) -> None:
        self._context.close()

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not text.startswith(EXPECTED):
            self._errors.append(f"{kind}: {text}")

    # What is there ------------------------------------------------------------------------------------------

    @property
    def question(self) -> Locator:
        return self.page.get_by_label("Your question")

    def turn(self, number: int) -> Locator:
        """The turn of that number, from 0; -1 is the last."""
        return self.page.locator("article.turn").nth(number)

    def calls(self, number: int = -1) -> Locator:
        return self.turn(number).locator("details.call")

    # What can be done ---------------------------------------------------------------------------------------

    def ask(self, text: str) -> None:
        self.question.fill(text)
        self.question.press("Enter")

    def expect_turn(self, number: int, state: str) -> None:
        expect(self.turn(number)).to_have_attribute("data-state", state)

    def expect_connection(self, word: str) -> None:
        expect(self.page.locator("#connection")).to_have_text(word)

    def give_token(self, token: str) -> None:
        self.page.get_by_label("Token", exact=True).fill(token)
        self.page.get_by_role("button", name="Continue").click()

    def let_in(self, token: str) -> None:
        """Give the right token. What is behind the dialog can be used once it has gone."""
        self.give_token(token)
        expect(self.page.get_by_role("dialog")).to_be_hidden()
