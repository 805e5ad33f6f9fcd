import { outliveReader } from './cli/process.ts'
import { run } from './cli/run.ts'

outliveReader(process)
process.exitCode = await run({
  arguments: process.argv.slice(2),
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
})
