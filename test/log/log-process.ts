import { createLog } from '../../src/log/create-log.ts'

// Writes more than any pipe holds, as a process whose output is watched, or not. Standard output is opened first, as the
// program does: by that it never waits.
process.stdout.on('error', () => undefined)
const log = createLog({ level: 'info' })
const text = 'x'.repeat(1000)
const lines = Number(process.argv[2])
for (let line = 0; line < lines; line++) {
  log.info({ line }, text)
  if (line % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
}
process.send?.({ resident: process.memoryUsage().rss })
process.disconnect()
