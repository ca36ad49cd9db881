{{- define "salve.name" -}}
{{- /* A Service's name has no dots, and a CronJob's at most 52 characters. A digest tells names apart that would be one. */ -}}
{{- $name := .Release.Name -}}
{{- if or (contains "." $name) (gt (len $name) 52) -}}
{{- $name = printf "%s-%s" ($name | replace "." "-" | trunc 43 | trimSuffix "-") ($name | sha256sum | trunc 8) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "salve.selector" -}}
app.kubernetes.io/name: salve
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "salve.labels" -}}
{{ include "salve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: {{ .Values.mode }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "salve.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "salve.name" .) -}}
{{- end -}}

{{- define "salve.image" -}}
{{- $repository := required "image.repository is required: where the image was pushed to" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* What the roles are for: a runbook, or prow-watch. */ -}}
{{- define "salve.task" -}}
{{- if eq .Values.mode "prow-watch" -}}
prow-watch
{{- else -}}
{{- $known := (.Files.Get "roles/runbooks.yaml" | fromYaml).runbooks }}
{{- if and (eq .Values.mode "watch") .Values.runbook (not (get (get $known .Values.runbook | default dict) "watch")) }}
{{- fail (printf "mode watch: %s has no check --watch; a cronjob with command: check asks again and again" .Values.runbook) }}
{{- end }}
{{- required "runbook is required, for example rescue-stranded-pods" .Values.runbook }}
{{- end -}}
{{- end -}}

{{- /* Whether the workload looks only: then it gets no right to change anything. */ -}}
{{- define "salve.onlyLooks" -}}
{{- if or (eq .Values.mode "watch") (and (has .Values.mode (list "job" "cronjob")) (ne .Values.command "run")) -}}
true
{{- end -}}
{{- end -}}

{{- define "salve.args" -}}
{{- if eq .Values.mode "prow-watch" }}
- prow
- watch
- --metrics-address=:{{ .Values.metrics.port }}
{{- else }}
- {{ ternary "check" .Values.command (eq .Values.mode "watch") }}
- {{ include "salve.task" . }}
{{- if eq .Values.mode "watch" }}
- --watch
{{- end }}
- --journal-namespace={{ .Values.journal.namespace }}
{{- if and .Values.events.enabled (not (include "salve.onlyLooks" .)) }}
- --kubernetes-events
{{- end }}
{{- end }}
{{- with .Values.args }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "salve.pod" -}}
metadata:
  labels:
    {{- include "salve.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "salve.serviceAccount" . }}
  restartPolicy: {{ ternary "Never" "Always" (has .Values.mode (list "job" "cronjob")) }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  enableServiceLinks: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile: { type: RuntimeDefault }
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: salve
      image: {{ include "salve.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- include "salve.args" . | trim | nindent 8 }}
      {{- with .Values.env }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      {{- if eq .Values.mode "prow-watch" }}
      ports:
        - { name: metrics, containerPort: {{ .Values.metrics.port }} }
      readinessProbe:
        httpGet: { path: /metrics, port: metrics }
        periodSeconds: 30
        timeoutSeconds: 5
      {{- end }}
      volumeMounts:
        - { name: home, mountPath: /home/salve }
        - { name: tmp, mountPath: /tmp }
        {{- with .Values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    # The lock of this machine lies in the home folder; nothing in it has to outlive the pod.
    - { name: home, emptyDir: { sizeLimit: 64Mi } }
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    {{- with .Values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end -}}

{{- define "salve.job" -}}
backoffLimit: {{ .Values.job.backoffLimit }}
activeDeadlineSeconds: {{ .Values.job.activeDeadlineSeconds }}
{{- if eq .Values.mode "job" }}
ttlSecondsAfterFinished: {{ .Values.job.ttlSecondsAfterFinished }}
{{- end }}
podFailurePolicy:
  rules:
    # A pod that was evicted or preempted is replaced, and the next one resumes the run.
    - action: Ignore
      onPodConditions: [{ type: DisruptionTarget }]
    # 1 failed, 2 wrong usage, 4 needs attention: an answer that another try doesn't change. 3 could not see: try again.
    - action: FailJob
      onExitCodes: { containerName: salve, operator: In, values: [1, 2, 4] }
template:
  {{- include "salve.pod" . | nindent 2 }}
{{- end -}}
