import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { run } from '../../src/cli/run.ts'

export type Ran = { status: number; out: string; err: string }

/**
 * Runs one command line, by its words or as a text with blanks between them.
 * @param seen what it writes as an error, at once
 */
export async function runCommand(
  line: string | readonly string[],
  environment: Record<string, string>,
  seen: (error: string) => void = () => undefined,
): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const errors: string[] = []
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors.push(chunk)
    seen(chunk)
  })
  const status = await run({
    arguments: typeof line === 'string' ? line.split(' ') : line,
    environment,
    stdout,
    stderr,
  })
  stdout.end()
  stderr.end()
  await finished(stderr)
  return { status, out: await text(stdout), err: errors.join('') }
}
