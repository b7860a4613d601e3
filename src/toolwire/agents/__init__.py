"""Who answers a turn: an agent."""
