"""Source trees and the file-system images that are built from them."""
