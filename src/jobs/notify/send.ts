import type { Transporter } from 'nodemailer'
import { isLoopback } from '../../config/environment-settings.ts'
import type { EmailTarget, NotificationTarget } from '../../config/notifications.ts'
import { messageOf } from '../../core/errors.ts'
import { postOnce } from '../../outbox/post-webhook.ts'
import { type NoticeContent, slackText } from '../../presentation/notice.ts'

export type OutgoingNotice = {
  /** The same in each attempt. */
  messageId: string
  /** Of the first message about the same; null if this is the first. */
  threadId: string | null
  content: NoticeContent
  writtenAt: Date
}

/** @returns headers that sign it; null if the secret cannot sign */
export type SignNotice = (
  secret: string,
  unsigned: { id: string; body: Buffer; at: Date; url: string },
) => Readonly<Record<string, string>> | null

/** For several messages. `send` resolves to the problem, null if the receiver accepted the message. */
export type NoticeSender = {
  send: (notice: OutgoingNotice) => Promise<string | null>
  close: () => void
}

const timeoutMs = 10_000

export function openSender(target: NotificationTarget, sign: SignNotice): NoticeSender {
  if (target.type === 'email') return openMail(target)
  const send = async (notice: OutgoingNotice) => {
    const { body, headers } = requestOf(target, notice, sign)
    if (headers === null) return 'the secret cannot sign'
    const posted = await postOnce({ url: target.url, headers, body, timeoutMs, accepts })
    return posted.kind === 'accepted' ? null : posted.problem
  }
  return { send, close: () => undefined }
}

function accepts(status: number): boolean {
  return status >= 200 && status < 300
}

function requestOf(
  target: Exclude<NotificationTarget, EmailTarget>,
  { messageId, threadId, content, writtenAt }: OutgoingNotice,
  sign: SignNotice,
) {
  if (target.type === 'slack')
    return { body: Buffer.from(JSON.stringify({ text: slackText(content) })), headers: {} }
  const { type, title, lines, data } = content
  const timestamp = writtenAt.toISOString()
  const thread = threadId ?? messageId
  const body = Buffer.from(JSON.stringify({ type, timestamp, data: { title, lines, thread, ...data } }))
  const unsigned = { id: messageId.replaceAll('-', ''), body, at: new Date(), url: target.url }
  return { body, headers: sign(target.secret, unsigned) }
}

function openMail(target: EmailTarget): NoticeSender {
  const opening = openTransport(target)
  const idOf = (id: string) => `<${id}@${target.from.split('@')[1]}>`
  return {
    async send({ messageId, threadId, content: { title, lines }, writtenAt }) {
      const replied = threadId === null ? {} : { inReplyTo: idOf(threadId), references: [idOf(threadId)] }
      try {
        const transport = await opening
        await transport.sendMail({
          from: target.from,
          to: [...target.to],
          subject: threadId === null ? title : `Re: ${title}`,
          text: `${lines.join('\n\n')}\n`,
          messageId: idOf(messageId),
          date: writtenAt,
          headers: { 'Auto-Submitted': 'auto-generated' },
          ...replied,
        })
        return null
      } catch (error) {
        return messageOf(error)
      }
    },
    close: () => void opening.then((transport) => transport.close()),
  }
}

/** @returns the problem; null if the server answers, and accepts the login */
export async function checkMail(target: EmailTarget): Promise<string | null> {
  const transport = await openTransport(target)
  try {
    await transport.verify()
    return null
  } catch (error) {
    return messageOf(error)
  } finally {
    transport.close()
  }
}

/** Without TLS, any server in between could read and change the messages. */
async function openTransport({ smtpUrl }: EmailTarget): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  const url = new URL(smtpUrl)
  const isSecure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const user = decodeURIComponent(url.username)
  return createTransport({
    host,
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    requireTLS: !isSecure && !isLoopback(host),
    ignoreTLS: !isSecure && isLoopback(host),
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
    pool: true,
    maxConnections: 1,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
