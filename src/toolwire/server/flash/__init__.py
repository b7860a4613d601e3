"""Document 3's resources and long tasks: drafts, attachments, apps, routes, logs, builds, and the socket."""
