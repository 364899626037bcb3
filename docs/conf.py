from importlib.metadata import version as installed_version

project = "componentvec"
author = "The componentvec authors"
copyright = f"2026, {author}"
version = release = installed_version("componentvec")

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"componentvec {release}"

# The docstrings name the types already.
autodoc_typehints = "none"
# ndarray's members would drown our own.
numpydoc_show_class_members = False
