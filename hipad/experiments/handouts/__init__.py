"""What an experiment leaves behind: pictures, tables, pages."""
