#!/usr/bin/env node
// The program is TypeScript that Node runs as it is. An older Node could not even say so, hence this plain file.
const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(
    `depositd needs Node 24, this is ${process.version}; "npx depositd" and the npm scripts bring it along\n`,
  )
  process.exit(2)
}
await import('../src/main.ts')
