import type { ProgramContext } from './context.ts'
import { describeProgram } from './program.ts'
import { exitStatus, reportError } from './report-error.ts'

/** @returns the exit status */
export async function run(context: ProgramContext): Promise<number> {
  let status: number = exitStatus.fine
  try {
    const words = context.arguments.length === 0 ? ['--help'] : context.arguments
    const program = describeProgram(context, (news) => {
      if (news === 'bad') status = exitStatus.badNews
    })
    await program.parseAsync(words, { from: 'user' })
    return status
  } catch (error) {
    return reportError(context, error)
  }
}
