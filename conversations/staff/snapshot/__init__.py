"""The page of one model request, part by part, in the order that it is read in."""
