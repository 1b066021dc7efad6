"""How far labels agree: coefficients of counts, between two judges or many annotators, with
intervals. Imports numpy and scipy only."""
