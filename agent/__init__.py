"""The faces and the one place that assembles them: settings, agent, command line."""
