// The reference of REST stood here; what was marked in it is found where it stands now.
if (location.hash.startsWith('#/')) location.replace(`docs/rest${location.hash}`);
