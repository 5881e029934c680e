"""The web server around the app: who is answered, what is logged, what is let go."""
