npx vitest run --project contracts "$@" 2>&1 | grep -v 'npm\|✓'
