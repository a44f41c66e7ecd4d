"""The product database: any upload, as a read-only SQLite database with known tables."""

from lib.catalog.catalog import Catalog, TableInfo, compact, empty_catalog, id_text
from lib.catalog.joins import Join, joined_by_values, joins
from lib.catalog.number import number
from lib.catalog.reading import open_catalog, reopen_catalog
from lib.catalog.roles import Role, Roles, customers_by_values, guess_roles, role_for

__all__ = ["Catalog", "Join", "Role", "Roles", "TableInfo", "compact", "customers_by_values", "empty_catalog",
           "guess_roles", "id_text", "joined_by_values", "joins", "number", "open_catalog", "reopen_catalog",
           "role_for"]
