"""What Openbook costs, beside the raw limit, in the same run. Ratios are the result; milliseconds belong to the machine."""
