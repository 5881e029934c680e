"""Parts that pages are made of; each module draws one thing."""
