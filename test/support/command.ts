import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { run } from '../../src/cli/run.ts'

export type Ran = { status: number; out: string; err: string }

/** Runs one command line, its words parted by blanks, and returns what it wrote and its exit status. */
export async function runCommand(line: string, environment: Record<string, string>): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const status = await run({ arguments: line.split(' '), environment, stdout, stderr })
  stdout.end()
  stderr.end()
  return { status, out: await text(stdout), err: await text(stderr) }
}
