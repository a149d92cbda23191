"""Files that people give: taken in, kept, and whose they are. ``artifacts.reading`` knows what stands in them."""
