"""The segregated layout: headers and data in different blocks, indexes beside the headers.

Written from `docs/yaffs2-segregated.md` alone. `marks.py` has the tags, `head.py` what follows an
object header and what an index page holds, `mount.py` the rules that say which page is which
chunk, `write.py` the log of an image; the checks are named as those of the original layout.
"""
