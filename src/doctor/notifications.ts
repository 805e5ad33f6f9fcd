import { judgeNotifications } from '../app/notifications.ts'
import { redactorOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { checkMail } from '../jobs/notify/send.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { readUnsent } from '../store/notifications.ts'
import { adviceFor, examined, fault, ok, openExaminedDatabase, warning } from './finding.ts'

const check = 'notifications'

/** Sends no message. Nothing if the settings name no channel and no person. */
export async function notificationFindings(settings: Settings): Promise<readonly DoctorFinding[]> {
  if (settings.notifications === null) return []
  const [mail, messages] = await Promise.all([mailFindings(settings), messageFindings(settings)])
  return [...mail, ...messages]
}

/** All e-mail goes through one server. */
async function mailFindings(settings: Settings): Promise<readonly DoctorFinding[]> {
  const { channels = [], people = [] } = settings.notifications ?? {}
  const target = [...channels, ...people].map((one) => one.target).find(({ type }) => type === 'email')
  if (target?.type !== 'email') return []
  return examined(check, 'correct SMTP_URL', async () => {
    const problem = await checkMail(target)
    if (problem === null) return ok(check, `${new URL(target.smtpUrl).host} accepts e-mail`)
    const names = { setting: 'SMTP_URL', credential: 'the user and password in SMTP_URL' }
    return fault(check, redactorOf(settings).hide(problem), adviceFor(problem, names))
  })
}

function messageFindings(settings: Settings): Promise<readonly DoctorFinding[]> {
  return examined(check, 'see the check of the database', async () => {
    await using db = openExaminedDatabase(settings.databaseUrl)
    return judgeNotifications(settings, await readUnsent(db)).map(({ state, says }) =>
      state === 'fine'
        ? ok(check, says)
        : warning(
            check,
            says,
            'bin/depositd notifications test; docs/how-to/notifications.md#if-a-channel-fails',
          ),
    )
  })
}
