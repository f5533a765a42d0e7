"""Rule-based policies, one readable file each; they see observations and nothing else."""
