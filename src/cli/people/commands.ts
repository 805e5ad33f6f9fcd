import { type Command, Option } from 'commander'
import { personRoles } from '../../people/roles.ts'
import { listed } from '../lists.ts'
import { type Act, choice, reasoned, subcommand } from '../options.ts'

export function describePeople(program: Command, act: Act): void {
  const people = program.command('people').description('the people who decide, their roles and their keys')
  listed(people.command('list'), 1000)
    .description('list people with their roles and public keys')
    .action(act(async () => (await import('./people.ts')).listPeopleCommand))
  const key = new Option('--key <key...>', 'their public keys; by default those that they have')
  subcommand(people, 'add <name>', 'add a person or replace their roles and keys, as an administrator')
    .requiredOption('--roles <list>', `separated by commas: ${personRoles.join(', ')}`)
    .addOption(key)
    .action(act(async () => (await import('./people.ts')).addPersonCommand))
  subcommand(
    people,
    'invite <name>',
    'let a person make a passkey; a second call confirms it, as an administrator',
  )
    .option(
      '--roles <list>',
      `separated by commas: ${personRoles.join(', ')}; by default those that they have`,
    )
    .option(
      '--admin',
      'the first administrator, who signs their own entry: without a key, while there are no people',
    )
    .option('--again', 'make another link')
    .option('--yes', 'confirm the passkey without a question')
    .action(act(async () => (await import('./people.ts')).invitePersonCommand))
  listed(people.command('log'), 50)
    .description('list what people did, the newest first: sign-ins, exports, decisions, work on cases')
    .option('--person <name>', 'only of this person')
    .option('--action <name>', 'only this, like signed_in, exported, bundle_made, signed or resolved')
    .action(act(async () => (await import('./people.ts')).listLogCommand))
  subcommand(people, 'sign-out <name>', 'end all sessions of a person in the console').action(
    act(async () => (await import('./people.ts')).signOutCommand),
  )
  subcommand(people, 'remove <name>', 'remove a person; what they decided stays').action(
    act(async () => (await import('./people.ts')).removePersonCommand),
  )
  subcommand(people, 'key <name>', 'make the key with which a person signs decisions')
    .requiredOption('--out <file>', 'the file to write; it must not exist')
    .action(act(async () => (await import('./people.ts')).createPersonKeyCommand))
  subcommand(program, 'login', 'work on cases as a person who is signed in to the console').action(
    act(async () => (await import('./login.ts')).loginCommand),
  )
  subcommand(program, 'logout', 'end the login of this command line').action(
    act(async () => (await import('./login.ts')).logoutCommand),
  )
  describeDecisions(program, act)
}

function describeDecisions(program: Command, act: Act): void {
  const decisions = program
    .command('decisions')
    .description('signed decisions, and those that wait for a second person')
  listed(decisions.command('list'), 50)
    .description('list decisions, the newest first')
    .addOption(choice('--state <state>', 'only these', ['waiting', 'done', 'rejected', 'outdated']))
    .action(act(async () => (await import('./decisions.ts')).listDecisionsCommand))
  subcommand(decisions, 'show <id>', 'show one decision, with the text that is signed').action(
    act(async () => (await import('./decisions.ts')).showDecisionCommand),
  )
  subcommand(decisions, 'approve <id>', 'sign a decision as the second person, and do what it says')
    .option('--yes', 'sign without a question')
    .option('--whole', 'of opening balances, show the whole file and every line')
    .action(act(async () => (await import('./decisions.ts')).approveCommand))
  reasoned(subcommand(decisions, 'reject <id>', 'end a decision that waits')).action(
    act(async () => (await import('./decisions.ts')).rejectCommand),
  )
}

/** A command that makes a signed decision. */
export function signedCommand(group: Command, words: string, description: string): Command {
  const names =
    'as the owner of the database, if keys are lost: without signatures, by one or two people with a comma'
  return subcommand(group, words, description).option('--break-glass <names>', names)
}
