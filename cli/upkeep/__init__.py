"""Commands around judging: config files, endpoints, kept replies. Only the list of commands may
import it."""
