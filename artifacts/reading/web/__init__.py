"""Pages of HTML, and books that are made of them."""
