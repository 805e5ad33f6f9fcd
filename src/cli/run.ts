import type { Command } from 'commander'
import type { Context } from './context.ts'
import { noCommand } from './options.ts'
import type { News } from './print.ts'
import { describeProgram } from './program.ts'
import { exitStatus, reportError } from './report-error.ts'

/** @returns the exit status */
export async function run(context: Context): Promise<number> {
  let status: number = exitStatus.fine
  const report = (news: News): void => {
    if (news === 'bad') status = exitStatus.badNews
  }
  try {
    const words = context.arguments.length === 0 ? ['--help'] : context.arguments
    const program = describeProgram(context, report)
    await program.parseAsync(spellOut(program, words), { from: 'user' })
    return status
  } catch (error) {
    return reportError(context, error)
  }
}

/**
 * Replaces `help` by `--help`, at any position.
 * @throws Fault `usage_bad` for a word that is not a command
 */
function spellOut(program: Command, words: readonly string[]): readonly string[] {
  let group = program
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-')) continue
    if (word === 'help') return spellOut(program, [...words.toSpliced(index, 1), '--help'])
    const command = group.commands.find((one) => one.name() === word)
    if (command === undefined) return refuseUnlessDefault(group, word, words)
    if (command.commands.length === 0) return words
    group = command
  }
  return words
}

/** The words after `service` may be the value of an option; its own action refuses them. */
function refuseUnlessDefault(group: Command, word: string, words: readonly string[]): readonly string[] {
  if (group.name() === 'service') return words
  const names = group.createHelp().visibleCommands(group)
  throw noCommand(
    pathOf(group),
    word,
    names.map((one) => one.name()),
  )
}

function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)}${command.name()} `
}
