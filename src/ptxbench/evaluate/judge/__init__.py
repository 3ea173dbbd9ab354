"""The judge: a long-lived process of ours that holds workloads and evaluates one candidate at a time."""
