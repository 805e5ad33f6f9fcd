import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { run } from '../../src/cli/run.ts'

export type Ran = { status: number; out: string; err: string }

/** Runs one command line, by its words or as a text with blanks between them. */
export async function runCommand(
  line: string | readonly string[],
  environment: Record<string, string>,
): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const status = await run({
    arguments: typeof line === 'string' ? line.split(' ') : line,
    environment,
    stdout,
    stderr,
  })
  stdout.end()
  stderr.end()
  return { status, out: await text(stdout), err: await text(stderr) }
}
