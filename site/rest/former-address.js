// The REST reference was at this address before; redirects bookmarks of its operations to the present one.
if (location.hash.startsWith('#/')) location.replace(`docs/rest${location.hash}`);
