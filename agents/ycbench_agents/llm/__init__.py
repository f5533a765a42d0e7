"""Language models as policies, over the chat-completions interface."""
